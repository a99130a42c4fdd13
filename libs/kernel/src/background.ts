/** The priority of processes for work that no request waits for, as of `os.setPriority`: whoever is waited for goes first. */
export const BACKGROUND_PRIORITY = 5;
