// Runs the greeter against the current kubeconfig context, or in a pod:
//   node --conditions=@bowline/source --import tsx docs/examples/ten-lines/main.ts
import { runOperators } from '@bowline/runtime';
import { greeter } from './greeter.ts';

await runOperators({ operators: [greeter], env: process.env, install: true });
