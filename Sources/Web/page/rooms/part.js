// Loads the dialogs of rooms with members, with their style.

export const rooms = async () => {
  const part = await import("./rooms.js");
  await part.styled();
  return part;
};
