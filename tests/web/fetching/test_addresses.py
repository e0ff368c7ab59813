import ipaddress

import pytest

from localfact.errors import InputError
from localfact.web.fetching.addresses import Addresses, AllowedHost, host_of, is_public
from localfact.web.fetching.failures import PageError, Reason

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "2a00:1450:4001:82b::200e"]
REFUSED = {
    "loopback": ["127.0.0.1", "127.255.0.9", "::1"],
    "unspecified": ["0.0.0.0", "0.1.2.3", "::"],
    "private": ["10.0.0.1", "172.16.5.5", "192.168.1.1", "fc00::1", "fd12:3456::1", "fec0::1"],
    "link-local": ["169.254.1.1", "fe80::1", "fe80::1%eth0"],
    "metadata": ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"],
    "shared": ["100.64.0.1", "100.127.255.254"],
    "multicast": ["224.0.0.1", "239.1.1.1", "ff02::1", "ff0e::1"],
    "reserved": ["240.0.0.1", "255.255.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "2001:db8::1"],
    "wrapping IPv4": ["::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "2002:7f00:1::", "2002:808:808::", "64:ff9b::a00:1"],
    "wrapping more": ["64:ff9b:1::1", "2001:0:1234::1", "192.88.99.1"],
}


def resolving(**hosts: list[str]) -> Addresses:
    async def resolve(host: str, port: int) -> list[str]:
        return hosts[host.replace(".", "_")]

    return Addresses(resolve=resolve)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_open_internet_pass(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", [address for kind in REFUSED.values() for address in kind])
def test_addresses_that_lead_elsewhere_are_refused(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "link",
    [
        *("file:///etc/passwd", "ftp://a.example/", "gopher://a.example/", "data:text/html,x", "javascript:alert(1)"),
        *(
            "",
            "a.example/page",
            "//a.example/",
            "http://",
            "http:///path",
            "http://a b/",
            "http://a\n.example/",
            "http://%31.0.0.1/",
        ),
        *(
            "http://user:secret@a.example/",
            "ftp://user:secret@a.example/",
            "http://a.example@127.0.0.1/",
            "http://a.example\\@127.0.0.1/",
        ),
        *(
            "http://a.example:22/",
            "https://a.example:25/",
            "http://a.example:6000/",
            "http://a.example:0/",
            "http://a.example:70000/",
        ),
        *(
            "http://127.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://169.254.169.254/latest/",
            "http://[fe80::1%25eth0]/",
        ),
        "http://a.example/" + "x" * 9_000,
    ],
)
def test_a_link_that_is_none_of_the_open_web_is_refused_before_anything_is_resolved(link: str) -> None:
    with pytest.raises(PageError) as caught:
        resolving().target(link)
    assert caught.value.failure.reason is Reason.ADDRESS_REFUSED
    assert caught.value.failure.detail
    assert "secret" not in caught.value.failure.detail


def test_a_target_has_no_fragment_and_a_host_in_ascii() -> None:
    target = resolving().target("  HTTP://München.Example:8080/ä?q=1#part ")
    assert str(target) == "http://xn--mnchen-3ya.example:8080/%C3%A4?q=1"
    assert host_of(target) == "xn--mnchen-3ya.example"


async def test_a_name_gives_all_its_addresses_once() -> None:
    addresses = resolving(a_example=["8.8.8.8", "2606:2800:220::1", "8.8.8.8"])
    assert await addresses.resolve("a.example", 80) == ("8.8.8.8", "2606:2800:220::1")


async def test_one_refused_address_among_public_ones_refuses_the_name() -> None:
    with pytest.raises(PageError) as caught:
        await resolving(a_example=["8.8.8.8", "10.0.0.7"]).resolve("a.example", 80)
    assert caught.value.failure.reason is Reason.ADDRESS_REFUSED
    assert "10.0.0.7" in caught.value.failure.detail


@pytest.mark.parametrize("spelling", ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "localhost"])
async def test_what_the_system_makes_of_odd_spellings_of_loopback_is_refused(spelling: str) -> None:
    addresses = Addresses()
    with pytest.raises(PageError) as caught:
        await addresses.resolve(host_of(addresses.target(f"http://{spelling}/")), 80)
    addresses.close()
    assert caught.value.failure.reason is Reason.ADDRESS_REFUSED


@pytest.mark.parametrize("error", [OSError("no such name"), UnicodeError("label too long")])
async def test_a_name_that_does_not_resolve_is_told(error: Exception) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        raise error

    with pytest.raises(PageError) as caught:
        await Addresses(resolve=resolve).resolve("no.example", 80)
    assert caught.value.failure.reason is Reason.NAME_NOT_RESOLVED
    assert caught.value.failure.detail == "no.example"


@pytest.mark.parametrize(
    ("entry", "link", "passes"),
    [
        ("127.0.0.2", "http://127.0.0.2/", True),
        ("127.0.0.2", "http://127.0.0.2:22/", True),
        ("127.0.0.2", "http://127.0.0.3/", False),
        ("127.0.0.2:8080", "http://127.0.0.2:8080/", True),
        ("127.0.0.2:8080", "http://127.0.0.2:8081/", False),
        ("10.0.0.0/8", "http://10.200.3.4/", True),
        ("10.0.0.0/8", "http://11.0.0.1:22/", False),
        ("fd00::/8", "http://[fd00::7]:9000/", True),
        ("[fd00::7]:9000", "http://[fd00::7]:9000/", True),
        ("[fd00::7]:9000", "http://[fd00::7]:9001/", False),
        ("Wiki.Intranet", "http://wiki.intranet:1/", True),
        ("wiki.intranet:8080", "http://wiki.intranet:22/", False),
        ("wiki.intranet", "http://evil.wiki.intranet:22/", False),
    ],
)
def test_a_user_admits_hosts_addresses_and_networks_with_their_ports(entry: str, link: str, passes: bool) -> None:
    addresses = Addresses([entry])
    if passes:
        addresses.target(link)
    else:
        with pytest.raises(PageError):
            addresses.target(link)


async def test_an_admitted_name_may_resolve_to_anything_and_another_name_only_into_an_admitted_network() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["10.1.2.3"]

    assert await Addresses(["wiki.intranet"], resolve).resolve("wiki.intranet", 80) == ("10.1.2.3",)
    assert await Addresses(["10.1.0.0/16"], resolve).resolve("other.intranet", 80) == ("10.1.2.3",)
    with pytest.raises(PageError):
        await Addresses(["wiki.intranet"], resolve).resolve("other.intranet", 80)


@pytest.mark.parametrize("entry", ["", "http://a.example/", "a b", "10.0.0.0/99", "user@host", "a:b:c"])
def test_what_names_no_host_cannot_be_admitted(entry: str) -> None:
    with pytest.raises(InputError, match="Cannot admit"):
        AllowedHost.parse(entry)
