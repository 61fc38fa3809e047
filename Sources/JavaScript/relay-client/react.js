// A room in React: `const useRoom = useRoomOf(React)`, then `const { messages, send } =
// useRoom(relay, "general")`.
/** @import { Relay } from "./relay.js" */
/** @import { Room } from "./room.js" */

const events = /** @type {const} */ ([
  "messages",
  "changes",
  "pending",
  "reset",
  "state",
  "marks",
  "typing",
]);

/** @param {Room} room */
const snapshotOf = (room) => ({
  room,
  state: room.state,
  error: room.error,
  messages: room.latest,
  pending: room.pending,
  typists: [...room.typists],
  marks: new Map(room.marks),
  send: room.send.bind(room),
});

/**
 * @param {{useMemo: Function, useSyncExternalStore: Function}} React
 * @returns {(relay: Relay, name: string) => ReturnType<typeof snapshotOf>} a hook
 */
export const useRoomOf = ({ useMemo, useSyncExternalStore }) =>
  function useRoom(relay, name) {
    const store = useMemo(() => {
      const room = relay.room(name);
      let snapshot = snapshotOf(room);
      const subscribe = (/** @type {() => void} */ changed) => {
        const ends = events.map((event) =>
          room.on(event, () => {
            snapshot = snapshotOf(room);
            changed();
          }),
        );
        snapshot = snapshotOf(room); // it may have changed since
        return () => {
          for (const end of ends) end();
        };
      };
      return { subscribe, snapshot: () => snapshot };
    }, [relay, name]);
    return useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
  };
