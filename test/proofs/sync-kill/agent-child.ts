// The agent process that the sync-kill proof kills.
import { readFileSync } from 'node:fs';
import { runTask } from './agent.ts';
import type { ChildTask } from './child-task.ts';

const task = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ChildTask;
console.log('started');
const result = await runTask(task, () => process.kill(process.pid, 'SIGKILL'));
console.log(JSON.stringify(result));
