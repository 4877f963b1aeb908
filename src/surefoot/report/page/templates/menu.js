// The menu marks the section that the reader is in: the one that crosses a line in the upper part of the window.

const UPPER = 0.25; // of the height of the window
const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.getAttribute("href").slice(1), link]));

function markSection(id) {
  for (const [name, link] of links) {
    if (name === id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// At the end of the page the last section may be too short to reach the line.
function currentSection() {
  const names = [...links.keys()];
  const root = document.documentElement;
  if (root.scrollTop > 0 && root.scrollTop + root.clientHeight >= root.scrollHeight - 2) return names.at(-1);
  const top = (name) => document.getElementById(name).getBoundingClientRect().top;
  return names.filter((name) => top(name) <= UPPER * root.clientHeight).at(-1);
}

function startMenu() {
  if (!("IntersectionObserver" in window)) return;
  const mark = () => markSection(currentSection());
  const rootMargin = `-${100 * UPPER - 1}% 0px -${99 - 100 * UPPER}% 0px`;
  const atLine = new IntersectionObserver(mark, { root: document, rootMargin });
  for (const name of links.keys()) atLine.observe(document.getElementById(name));
  new IntersectionObserver(mark, { root: document, threshold: [0, 0.5, 1] }).observe(document.querySelector("footer"));
}

// Inside a notebook's frame, "#rows" would mean the notebook's own address: go there by hand.
function followLink(event) {
  const target = document.querySelector(event.currentTarget.getAttribute("href"));
  event.preventDefault();
  unfold(target);
  target.scrollIntoView();
  (target.querySelector(":scope > summary") ?? target).focus({ preventScroll: true });
}

// What a link points at is never folded away.
function unfold(target) {
  const folded = target?.closest("details");
  if (folded) folded.open = true;
}

function startLinks() {
  if (location.hash) unfold(document.getElementById(location.hash.slice(1)));
  for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", followLink);
}
