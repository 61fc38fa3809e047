// The dialogs of rooms with members. Loaded when they are needed.

export { leave } from "./leave.js";
export { showMembers } from "./members.js";
export { makeRoom } from "./new-room.js";
export { reportMessage } from "./reports.js";
export { changeSettings } from "./settings.js";
export { styled } from "./style.js";
