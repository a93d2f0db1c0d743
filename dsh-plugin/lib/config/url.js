// @ts-check
/**
 * What may be written as the server's address.
 *
 * @module
 */

/**
 * @typedef {object} ServerUrl
 * @property {string} base Origin and path prefix, without a slash at the end.
 * @property {string} origin
 * @property {string} hostname Without the brackets of an IPv6 address.
 * @property {number} port
 * @property {boolean} secure https.
 * @property {boolean} loopback The address is this machine whatever a resolver says.
 */

/**
 * @param {unknown} value
 * @returns {ServerUrl | string} A sentence part ("must …") when it may not be used.
 */
export function parseServerUrl(value) {
  if (typeof value !== "string") return "must be a string";
  /** @type {URL} */
  let url;
  try {
    url = new URL(value);
  } catch {
    return "must be an absolute URL such as http://127.0.0.1:8787";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return "must start with http:// or https://";
  }
  if (url.username !== "" || url.password !== "") {
    return "must carry no user name and no password: set the token instead";
  }
  if (url.search !== "" || url.hash !== "") {
    return "must have no query and no fragment";
  }
  const secure = url.protocol === "https:";
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  return {
    base: url.origin + url.pathname.replace(/\/+$/, ""),
    origin: url.origin,
    hostname,
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    secure,
    loopback: isLoopback(hostname),
  };
}

/** @param {string} hostname As the URL parser writes it: IPv4 in four decimal parts, IPv6 compressed. @returns {boolean} */
function isLoopback(hostname) {
  return hostname === "localhost" || hostname === "::1" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
