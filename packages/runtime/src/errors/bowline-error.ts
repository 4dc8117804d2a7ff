// Defined in machinery, so that the parts below the runtime throw the same class and `instanceof` holds everywhere.
export { BowlineError, type BowlineErrorOptions } from '@bowline/machinery';
