/** Injection tokens of values without a class. */
export const CLOCK = Symbol('Clock');
export const IDS = Symbol('Ids');
export const CONFIG = Symbol('Config');
/** The environment of the process, for keys that a file names by their variable. */
export const ENVIRONMENT = Symbol('Environment');
/** A structured logger in pino's shape. */
export const LOGGER = Symbol('Logger');
/** Version of the product, as `package.json` gives it. */
export const PRODUCT_VERSION = Symbol('ProductVersion');
/** `DATA_DIR`, locked: no other process uses the embedded stores in it. */
export const DATA_FOLDER = Symbol('DataFolder');
