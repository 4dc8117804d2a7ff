// The command line with the operator, for a test that runs it as a process. It calls the agents of the test.
import { readFileSync } from 'node:fs';
import { runProgram } from '../../../../apps/bowline/src/program.ts';
import { processIo } from '../../../../apps/bowline/src/terminal/io.ts';
import { hsmSecretsWith } from '../operator.ts';
import { AGENTS_FILE, type CanaryTargets, remoteAgents } from './canary-agents.test-support.ts';

const targets = JSON.parse(readFileSync(process.env[AGENTS_FILE] ?? '', 'utf8')) as CanaryTargets;
const operator = hsmSecretsWith({ agents: remoteAgents(() => targets) });
const registry = { 'hsm-secrets': { summary: 'HSM', load: () => Promise.resolve(operator) } };
process.exitCode = await runProgram(process.argv.slice(2), registry, processIo, process.argv[1]);
