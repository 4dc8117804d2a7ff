// Runs cases in a process of its own, so that all processors are used.
import { runCase } from './run-case.ts';
import { openWorld, type World } from './world.ts';

/** The history of a control plane grows with every case. */
const CASES_PER_WORLD = 50;

let world: World | undefined;
let cases = 0;

process.on('disconnect', () => process.exit(0));
process.on('message', (seed: number) => void answer(seed));

async function answer(seed: number): Promise<void> {
  if (cases++ % CASES_PER_WORLD === 0) {
    await world?.[Symbol.asyncDispose]();
    world = undefined;
  }
  world ??= await openWorld();
  process.send?.(await runCase(world, seed));
}
