/** Injection token of every projection of the application. */
export const PROJECTIONS = Symbol('Projections');
/** Injection token of the `Ordinals`: counts of the log. */
export const ORDINALS = Symbol('Ordinals');
/** Injection token of what starts the thread that rebuilds views. */
export const REBUILD_WORKERS = Symbol('RebuildWorkers');
