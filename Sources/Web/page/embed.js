// <relay-room>, a conversation for any page. This address stays; what it loads is of one version.
export * from "./web/{version}/relay-room.js";
