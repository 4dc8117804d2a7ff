#!/usr/bin/env node
import { runSupervisor } from '../supervisor/run-supervisor.ts';

await runSupervisor();
