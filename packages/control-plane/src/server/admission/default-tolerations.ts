import type { Toleration } from '@bowline/kubernetes';
import type { AdmissionPlugin } from './admission.ts';
import { podSpecOf } from './service-account.ts';

const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const SECONDS = 300;

/**
 * defaultTolerations lets every Pod stay on an unhealthy node for five minutes, unless the Pod sets its own
 * tolerations.
 */
export function defaultTolerations(): AdmissionPlugin {
  return {
    name: 'DefaultTolerationSeconds',
    mutate(request) {
      const { operation, object } = request;
      if (operation !== 'CREATE' && operation !== 'UPDATE') return;
      const spec = podSpecOf(request, object);
      if (!spec) return;
      const given = spec.tolerations ?? [];
      const missing = TAINTS.filter((taint) => !given.some((each) => tolerates(each, taint)));
      if (missing.length === 0) return;
      const added = missing.map(
        (key): Toleration => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: SECONDS }),
      );
      spec.tolerations = [...given, ...added];
    },
  };
}

function tolerates({ key, effect }: Toleration, taint: string): boolean {
  return (!key || key === taint) && (!effect || effect === 'NoExecute');
}
