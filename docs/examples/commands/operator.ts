import { Secret } from '@bowline/kubernetes';
import { controller, defineOperator } from '@bowline/runtime';
import { guard, LABEL, list, put, worker } from './commands.ts';

/** OPEN is the annotation of a locker that everybody may look into. */
export const OPEN = 'example.com/open';

const lockers = controller(Secret, { labelSelector: LABEL, view: 'metadata' }).reconcile(({ object, event }) => {
  if (object.metadata.annotations?.[OPEN] !== undefined)
    event('Warning', 'Open', 'the locker is open; remove the annotation');
});

/** locker is an operator with commands: `bowline locker list`, and `kubectl locker list`. */
export const locker = defineOperator({
  name: 'locker',
  domain: 'example.com',
  kubectlPlugin: 'locker',
  controllers: [lockers],
  commands: [list, put, guard, worker],
});
