// Requests to the service. An answer that is an error becomes an Error with the service's own sentence.
import { byId } from "./dom.js";

const KEY = "aegir-token";
let asking = null;

const askForToken = () => {
  asking ||= new Promise((resolve) => {
    const dialog = byId("token");
    dialog.addEventListener(
      "close",
      () => {
        sessionStorage.setItem(KEY, byId("token-value").value);
        asking = null;
        resolve();
      },
      { once: true },
    );
    dialog.showModal();
  });
  return asking;
};

export const send = async (path, options = {}) => {
  const token = sessionStorage.getItem(KEY);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new Error("the service cannot be reached; is it still running?");
  }
  if (response.status === 401) {
    await askForToken();
    return send(path, options);
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const error = new Error(said.error || `the service answered with status ${response.status}`);
  error.said = said;
  throw error;
};

export const getJson = async (path) => (await send(path)).json();

export const postFiles = (path, files, fields = {}) => {
  const body = new FormData();
  for (const [name, text] of Object.entries(fields)) body.append(name, text);
  for (const file of files) body.append("file", file, file.name);
  return send(path, { method: "POST", body });
};
