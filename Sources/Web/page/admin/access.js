// What an operator asks of the relay: by the cookie of an account, or by a token, which is kept in memory alone.

import { Refusal, request } from "../accounts/request.js";

export class Access {
  token = "";

  get hasToken() {
    return this.token !== "";
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<any>}
   */
  request(method, path, body) {
    return request(method, path, body, undefined, this.token);
  }

  /** Rejects if an operator is not who asks. */
  async check() {
    await this.request("GET", "v1/samples?after=9007199254740991");
  }

  /**
   * The answer to a request of relay.v1.
   * @param {{type: string, [field: string]: unknown}} message
   */
  async ask(message) {
    const [answer] = await this.request("POST", "v1/requests", [{ ref: "1", ...message }]);
    if (answer.type === "error") throw new Refusal(0, answer.message, answer);
    return answer;
  }

  /**
   * Sends an entry.
   * @param {string} room
   * @param {object} fields
   */
  send(room, fields) {
    // Without `randomUUID`, which only pages of secure contexts have.
    const id = crypto.getRandomValues(new Uint32Array(4)).join("-");
    return this.ask({ type: "send", room, id, ...fields });
  }
}
