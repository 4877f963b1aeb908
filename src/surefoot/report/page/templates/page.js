// Inside a notebook's frame, "#rows" would mean the notebook's own address: go there by hand.
function followLink(event) {
  const target = document.querySelector(event.currentTarget.getAttribute("href"));
  event.preventDefault();
  target.scrollIntoView();
  target.focus({ preventScroll: true });
}

async function start() {
  for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", followLink);
  find("download").addEventListener("click", download);
  startRows();
  startAnswer();
  startMenu();
  await drawCharts();
  showAnswer();
  onBrush(selectRows);
  document.documentElement.dataset.ready = "yes";
}

start();
