import { createFakeClock } from '../clock.ts';
import { fakeTime } from '../time.ts';
import { Connection } from './connection.ts';
import type { Answer, Host, HostSetup, Question, Stage, StartedHost } from './host.ts';

/** Starts the hosts and connections of a case, and closes them at its end. */
export function createStage(create: (setup: HostSetup) => Promise<Host>): Stage {
  const started: { close(): unknown }[] = [];

  async function start(setup: HostSetup): Promise<StartedHost> {
    const host = await create(setup);
    started.push(host);
    const connect = async (): Promise<Connection> => {
      const connection = await Connection.open(host.port);
      started.push({ close: () => connection.leave() });
      return connection;
    };
    const ask = async (question: Question): Promise<Answer> => {
      const connection = await connect();
      connection.send(question);
      const answer = await connection.answer(question.method);
      connection.leave();
      return answer;
    };
    return { ...host, connect, ask };
  }

  return {
    start,
    // Cases do not read the time; they wait for events.
    time: fakeTime(createFakeClock()),
    async close() {
      for (const one of started.splice(0).reverse()) await one.close();
    },
  };
}
