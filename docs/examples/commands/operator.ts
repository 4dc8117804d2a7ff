import { Secret } from '@bowline/kubernetes';
import { controller, defineOperator } from '@bowline/runtime';
import { guard, LABEL, list, put, worker } from './commands.ts';

/** locker is an operator with commands: `bowline locker list`, and `kubectl locker list`. */
export const locker = defineOperator({
  name: 'locker',
  domain: 'example.com',
  kubectlPlugin: 'locker',
  controllers: [controller(Secret, { labelSelector: LABEL, view: 'metadata' }).reconcile(() => {})],
  commands: [list, put, guard, worker],
});
