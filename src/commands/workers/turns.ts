import type { WriteTurns } from '../../database/engine.ts';
import type { Peers, ToWorker } from '../../http/ops/peers.ts';

/** Gives the workers the right to write one after another, in the order in which they ask for it. */
export function createTurnQueue(send: (workerId: number, message: ToWorker) => void) {
  const waiting: number[] = [];
  let holder: number | undefined;

  function giveNext(): void {
    holder ??= waiting.shift();
    if (holder !== undefined) send(holder, { type: 'turn', isWanted: waiting.length > 0 });
  }

  return {
    take(workerId: number): void {
      waiting.push(workerId);
      if (holder === undefined) giveNext();
      else send(holder, { type: 'turn wanted' });
    },
    end(workerId: number): void {
      if (holder !== workerId) return;
      holder = undefined;
      giveNext();
    },
    /** A worker that has ended neither waits nor writes. */
    remove(workerId: number): void {
      const index = waiting.indexOf(workerId);
      if (index >= 0) waiting.splice(index, 1);
      this.end(workerId);
    },
  };
}

/** The turns of this worker. */
export function createWriteTurns(peers: Peers): WriteTurns {
  let isWanted = false;
  let onTurn = () => {};
  peers.on('turn', (message) => {
    isWanted = message.isWanted;
    onTurn();
  });
  peers.on('turn wanted', () => {
    isWanted = true;
  });
  return {
    take: () =>
      new Promise((resolve) => {
        onTurn = resolve;
        peers.send({ type: 'take turn' });
      }),
    end() {
      isWanted = false;
      peers.send({ type: 'end turn' });
    },
    isWanted: () => isWanted,
  };
}
