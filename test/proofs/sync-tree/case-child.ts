// Runs cases in a process of its own, so that all processors are used.
import { runCase } from './run-case.ts';

process.on('disconnect', () => process.exit(0));
process.on('message', (seed: number) => void answer(seed));

async function answer(seed: number): Promise<void> {
  process.send?.(await runCase(seed));
}
