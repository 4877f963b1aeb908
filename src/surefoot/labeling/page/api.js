// Requests to the server. A reply is {status, data}; status 0 means that no reply came.

const PATIENCE = 15000; // milliseconds for one request
let listener = () => {};

// `listen` is called after each request: true if the server replied.
export function onReply(listen) {
  listener = listen;
}

export function get(path, query = {}) {
  const words = new URLSearchParams(query).toString();
  return request(words ? `${path}?${words}` : path, { method: "GET" });
}

export function post(path, body) {
  return request(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
}

async function request(path, options) {
  const headers = { ...options.headers, "X-Surefoot": "1" };
  let reply = { status: 0, data: {} };
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    const response = await fetch(path, { ...options, headers, signal, cache: "no-store", credentials: "same-origin" });
    reply = { status: response.status, data: await parsed(response) };
  } catch {
    // No connection, or no whole reply in time.
  }
  listener(reply.status !== 0);
  return reply;
}

// An error page of another program in between is no JSON.
async function parsed(response) {
  const text = await response.text();
  try {
    return JSON.parse(text) ?? {};
  } catch (error) {
    if (response.ok) throw error;
    return {};
  }
}

// Why a reply is no success, in one sentence.
export function reason({ status, data }) {
  if (status === 0) return "The server does not answer.";
  return typeof data.error === "string" && data.error ? data.error : `The server answered with an error (${status}).`;
}

export function pause(milliseconds) {
  return new Promise((wake) => setTimeout(wake, milliseconds));
}
