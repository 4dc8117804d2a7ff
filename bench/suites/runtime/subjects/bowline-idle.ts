// A manager with leader election, probes, metrics and logs, whose operator watches ten small kinds and is idle.
import {
  ConfigMap,
  DaemonSet,
  Deployment,
  Lease,
  Namespace,
  Node,
  Pod,
  Secret,
  Service,
  ServiceAccount,
} from '@bowline/kubernetes';
import { defineOperator, keyed } from '@bowline/runtime';
import { loadKubeconfig } from '@bowline/runtime/client';
import { runOperator } from '../../../support/run-operator.ts';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';

const map = () => ['all'];
let first: () => void = () => {};
const reconciled = new Promise<void>((resolve) => {
  first = resolve;
});

const operator = defineOperator({
  name: 'bench-idle',
  domain: 'bowline.dev',
  controllers: [
    keyed('idle')
      .watches(ConfigMap, { map })
      .watches(DaemonSet, { map })
      .watches(Deployment, { map })
      .watches(Lease, { map })
      .watches(Namespace, { map })
      .watches(Node, { map })
      .watches(Pod, { map })
      .watches(Secret, { map })
      .watches(Service, { map })
      .watches(ServiceAccount, { map })
      .reconcile(() => first()),
  ],
});

const config = await loadKubeconfig({ paths: [subjectInput().kubeconfig] });
await using _running = runOperator(config, operator);
// Workers start once every informer has synced.
await reconciled;
// Since the start of the process.
report({ ms: performance.now() });
await untilReleased();
