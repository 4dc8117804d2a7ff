// One class for all packages: `instanceof` must also work for errors thrown by machinery.
export { BowlineError } from '@bowline/machinery';
