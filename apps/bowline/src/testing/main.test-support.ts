// The command line with the test operators, for tests that run it as a process.
import { runProgram } from '../program.ts';
import { processIo } from '../terminal/io.ts';
import { testOperators } from './test-operators.test-support.ts';

process.exitCode = await runProgram(process.argv.slice(2), testOperators, processIo, process.argv[1]);
