// Requests beside a connection, as the same user.
/** @import { Access } from "./types.js" */

/**
 * Makes a request by token or by name; without either the browser adds its cookie.
 * @param {Access} access @param {URL} url @param {RequestInit} init
 */
export function requested({ user, token, fetch, signal }, url, init) {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
  else if (user !== undefined) url.searchParams.set("user", user);
  return fetch(url, { cache: "no-store", signal, ...init, headers });
}
