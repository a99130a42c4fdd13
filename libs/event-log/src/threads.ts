/** What the thread that hashes events imports of the log. It loads no schemas and no framework. */
export { EVENT_MAC, type MacCheck, type EventMac, eventMacOf, stampAppends, withoutMac } from './event-mac';
export { openLogReader } from './open-log';
