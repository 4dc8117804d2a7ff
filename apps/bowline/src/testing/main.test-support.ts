// The command line with the test operators, for tests that run it as a process.
import { runMain } from '../run-main.ts';
import { testOperators } from './test-operators.test-support.ts';

await runMain(testOperators);
