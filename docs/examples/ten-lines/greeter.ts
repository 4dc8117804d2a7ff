import { ConfigMap } from '@bowline/kubernetes';
import { controller, defineOperator } from '@bowline/runtime';
import { Greeting } from './greeting.ts';

const greetings = controller(Greeting)
  .owns(ConfigMap)
  .reconcile(async ({ object, key, apply }) => {
    await apply(ConfigMap, { metadata: key, data: { text: `hello, ${object.spec.name}` } });
  });

/** greeter writes a ConfigMap for every Greeting. */
export const greeter = defineOperator({
  name: 'greeter',
  domain: 'example.com',
  resources: [Greeting],
  controllers: [greetings],
});
