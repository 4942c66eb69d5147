import { useChat } from '@ai-sdk/react';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

/* A page with `useChat()` at its default addresses. */

const ID = 'journey';

const load = async () => (await (await fetch(`/api/chat/${ID}/messages`)).json()).data;

function Part({ part }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'dynamic-tool') return <code>{`${part.toolName}: ${part.state}`}</code>;
  return null;
}

function Chat({ messages: initial }) {
  const chat = useChat({ id: ID, messages: initial, resume: true });
  const { messages, status, error, sendMessage, regenerate, stop, setMessages, resumeStream } = chat;
  const [text, setText] = useState('');

  useEffect(() => {
    const reconnect = async () => {
      setMessages(await load());
      await resumeStream();
    };
    addEventListener('online', reconnect);
    return () => removeEventListener('online', reconnect);
  }, [setMessages, resumeStream]);

  const send = (messageId) => {
    void sendMessage({ text, messageId }, { body: { tools: ['dice_roll'] } });
    setText('');
  };
  const halt = async () => {
    await fetch(`/api/chat/${ID}/stop`, { method: 'POST' });
    await stop();
  };
  return (
    <main data-status={status}>
      {messages.map(({ id, role, parts }) => (
        <section key={id} className={role}>
          {parts.map((part, at) => (
            <Part key={String(at)} part={part} />
          ))}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      <button type="button" onClick={() => send()}>
        Send
      </button>
      <button type="button" onClick={() => send(messages.findLast(({ role }) => role === 'user').id)}>
        Edit
      </button>
      <button type="button" onClick={() => void regenerate()}>
        Regenerate
      </button>
      <button type="button" onClick={() => void halt()}>
        Stop
      </button>
    </main>
  );
}

createRoot(document.getElementById('root')).render(<Chat messages={await load()} />);
