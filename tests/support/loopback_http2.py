"""A server of HTTP/2 over TLS on loopback, with a certificate of its own: as much as fetching pages takes."""

import asyncio
import datetime
import ipaddress
import ssl
from dataclasses import dataclass, field
from pathlib import Path

import h2.config
import h2.connection
import h2.events
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NAME = "pages.example"
PAGE = b"<html><body><p>This page came over HTTP/2, in a stream of its own.</p></body></html>"
#: How much of a body without end is sent at most.
LONGEST = 30_000_000


def certificates(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What the server shows and what a client must trust: a certificate for NAME and 127.0.0.2."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    alternatives = [x509.DNSName(NAME), x509.IPAddress(ipaddress.ip_address("127.0.0.2"))]
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    shown, private = folder / "certificate.pem", folder / "key.pem"
    shown.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(shown, private)
    return server, ssl.create_default_context(cafile=str(shown))


@dataclass
class Http2Pages:
    """Serves PAGE at every path, but 404 at /robots.txt and a body without end at /never-ending and /refused.

    Attributes:
        connections: how many were opened.
        asked: (number of the connection, from 1; authority; path) of every request.
    """

    shown: ssl.SSLContext
    connections: int = 0
    asked: list[tuple[int, str, str]] = field(default_factory=list)
    port: int = 0

    async def listen(self, host: str) -> asyncio.Server:
        """Begins to serve at a free port."""
        self.shown.set_alpn_protocols(["h2"])
        server = await asyncio.start_server(self._serve, host, 0, ssl=self.shown)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        state.initiate_connection()
        writer.write(state.data_to_send())
        endless: dict[int, int] = {}
        self.connections += 1
        connection = self.connections
        try:
            while data := await reader.read(65_536):
                for event in state.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        self._answer(connection, state, event, endless)
                for stream in list(endless):
                    self._pour(state, stream, endless)
                writer.write(state.data_to_send())
                await writer.drain()
        except (ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()

    def _answer(
        self, connection: int, state: h2.connection.H2Connection, event: h2.events.RequestReceived, endless: dict[int, int]
    ) -> None:
        asked = {bytes(name).decode(): bytes(value).decode() for name, value in event.headers}
        self.asked.append((connection, asked[":authority"], asked[":path"]))
        status = "404" if asked[":path"] in ("/robots.txt", "/refused") else "200"
        state.send_headers(event.stream_id, [(":status", status), ("content-type", "text/html; charset=utf-8")])
        if asked[":path"] in ("/never-ending", "/refused"):
            endless[event.stream_id] = LONGEST
        else:
            state.send_data(event.stream_id, PAGE, end_stream=True)

    def _pour(self, state: h2.connection.H2Connection, stream: int, endless: dict[int, int]) -> None:
        """Sends as much as the other side's window takes."""
        while (room := min(state.local_flow_control_window(stream), state.max_outbound_frame_size, endless[stream])) > 0:
            state.send_data(stream, b"x" * room)
            endless[stream] -= room
