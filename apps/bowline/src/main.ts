import { operators } from './operators/operators.ts';
import { runProgram } from './program.ts';
import { exitWhenClosed } from './terminal/closed-pipe.ts';
import { processIo } from './terminal/io.ts';

exitWhenClosed(process.stdout);
process.exitCode = await runProgram(process.argv.slice(2), operators, processIo, process.argv[1]);
