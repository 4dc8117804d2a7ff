// A worker whose behaviour is chosen by the path that it reads. It is a program: tests start it as a child process.
import type { WorkerRequest, WorkerResponse } from './worker-messages.ts';

const send = (message: WorkerResponse): void => void process.send?.(message);
const behaviours: Readonly<Record<string, () => unknown>> = {
  hang: () => {
    for (;;);
  },
  crash: () => process.kill(process.pid, 'SIGKILL'),
  exit: () => process.exit(3),
};

process.on('message', (message: WorkerRequest) => {
  if (message.kind === 'configure') {
    if (message.config.library === 'hang') behaviours.hang?.();
    if (message.config.library === 'exit') process.exit(4);
    send({ kind: 'ready', coreDumps: 'on' });
    return;
  }
  const { id, method, args } = message;
  const path = String(args[0]);
  if (path === 'missing') return send({ kind: 'refused', id, problem: 'NotFound', message: 'there is no secret' });
  if (path === 'bug') return send({ kind: 'failed', id, error: 'TypeError', at: ['at somewhere'] });
  behaviours[path]?.();
  // Buffers must arrive as Buffers.
  const areBuffers = args.every((arg) => !(arg instanceof Uint8Array) || Buffer.isBuffer(arg));
  send({ kind: 'result', id, value: { method, args, areBuffers, pid: process.pid, argv: process.argv.slice(2) } });
});
process.on('disconnect', () => process.exit(0));
