async function start() {
  startLinks();
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
