import { defineResource, s } from '@bowline/runtime/resource';

/** Greeting is a text that is stored in a ConfigMap. */
export const Greeting = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Greeting',
  scope: 'Namespaced',
  description: 'A greeting that is stored in a ConfigMap of the same name.',
  spec: s.object({ name: s.string().minLength(1).maxLength(64).default('world').describe('The name to greet.') }),
  status: s.object({}),
  columns: [
    { name: 'Greets', path: '.spec.name' },
    { name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' },
  ],
});
