// The worker as a program of its own, without the command line around it.
import { runWorker } from './run-worker.ts';

await runWorker();
