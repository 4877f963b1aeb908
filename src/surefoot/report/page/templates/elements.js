"use strict";
// Texts become text nodes, never markup: whatever a table contains is harmless.

const report = JSON.parse(document.getElementById("report-data").textContent);

function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function find(name) {
  return document.querySelector(`[data-test="${name}"]`);
}

// A number stays as it is: the report has rounded it. Truth values are written as in Python.
function shown(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "True" : "False";
  return String(value);
}

function counted(size) {
  return size.toLocaleString("en-US");
}

function later(action, wait = 120) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), wait);
  };
}
