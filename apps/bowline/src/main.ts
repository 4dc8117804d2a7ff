import { operators } from './operators/operators.ts';

const [operator = '', name = ''] = process.argv.slice(2);
const load = Object.hasOwn(operators, operator) ? operators[operator]?.programs?.[name] : undefined;
// The command line is loaded only now: a program of an operator does not need it.
if (!load) await (await import('./run-main.ts')).runMain(operators);
else {
  try {
    const run = await load();
    await run();
  } catch (error) {
    (await import('./run-main.ts')).fail(error);
  }
}
