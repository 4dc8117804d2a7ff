import { operators } from './operators/operators.ts';
import { runProgram } from './program.ts';
import { processIo } from './terminal/io.ts';

process.exitCode = await runProgram(process.argv.slice(2), operators, processIo, process.argv[1]);
