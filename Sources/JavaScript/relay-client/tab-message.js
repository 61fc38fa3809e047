// Messages between tabs: errors would lose their fields on the way.
import { RelayError } from "./errors.js";

/** @param {any} message */
export function encoded({ error, outcomes, ...message }) {
  if (outcomes) message.outcomes = outcomes.map(encoded);
  const answer = error instanceof RelayError ? error.answer : { message: String(error) };
  return error ? { ...message, error: { code: "failed", ...answer } } : message;
}

/** @param {any} message */
export function decoded({ error, outcomes, ...message }) {
  if (outcomes) message.outcomes = outcomes.map(decoded);
  return error ? { ...message, error: RelayError.from(error) } : message;
}
