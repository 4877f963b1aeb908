// The slider: the texts for each of its positions are in the page already.

const slider = find("coverage");
const promises = [...document.querySelectorAll("input[name=promise]")];

function showAnswer() {
  const at = Number(slider.value);
  const texts = report.answer.texts[at];
  for (const node of document.querySelectorAll("[data-figure]")) node.textContent = texts[node.dataset.figure].replaceAll(" %", "\u00a0%");
  slider.setAttribute("aria-valuetext", (find("answer-sentence")?.textContent ?? "").replace(/\s+/g, " ").trim());
  moveAdvice();
  moveRules(report.answer.coverage[at], report.answer.limit[at]);
}

// Whether a row is answered: it has one of the lowest estimated errors, as many as the slider says.
function isAnswered(item) {
  return item.rank < report.answer.n_answered[Number(slider.value)];
}

function moveTo(at) {
  slider.value = at;
  showAnswer();
}

function startAnswer() {
  slider.addEventListener("input", () => {
    for (const promise of promises) promise.checked = false;
    showAnswer();
  });
  for (const promise of promises) promise.addEventListener("change", () => moveTo(promise.dataset.at));
  showAnswer();
}
