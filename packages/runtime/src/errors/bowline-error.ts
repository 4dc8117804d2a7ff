// One class for all packages: `instanceof` must hold for what machinery throws too.
export { BowlineError, type BowlineErrorOptions } from '@bowline/machinery';
