/** Injection tokens of what has no class of its own. */
export const CLOCK = Symbol('Clock');
export const IDS = Symbol('Ids');
export const CONFIG = Symbol('Config');
