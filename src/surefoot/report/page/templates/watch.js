async function start() {
  startLinks();
  startMenu();
  await drawCharts();
  document.documentElement.dataset.ready = "yes";
}

start();
