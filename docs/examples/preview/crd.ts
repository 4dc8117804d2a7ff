// Prints the CustomResourceDefinition of the kind, for kubectl apply.
import { customResourceDefinition } from '@bowline/runtime/install';
import { Preview } from './preview.ts';

process.stdout.write(`${JSON.stringify(customResourceDefinition(Preview), undefined, 2)}\n`);
