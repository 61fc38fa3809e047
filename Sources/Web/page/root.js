/** Where the relay is: its page, its files, in web/VERSION, and its resources are below. */
export const root = new URL("../../", import.meta.url);
