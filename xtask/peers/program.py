"""A service for observations, as a team might write it with FastAPI and SQLAlchemy.

A create writes the row, an event, an audit entry and the answer for retries in one transaction, which SQLite flushes.
Run it with `uvicorn program:app`. `DATABASE` is the path of its file, and `API_KEY` the key that its clients use.
"""

import base64
import hashlib
import json
import os
import uuid
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import Depends, FastAPI, Header, HTTPException, Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ForeignKey, Index, create_engine, event, select, tuple_
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

engine = create_engine(f"sqlite:///{os.environ['DATABASE']}", connect_args={"timeout": 30})


@event.listens_for(engine, "connect")
def set_pragmas(connection, _):
    """Sets what Candor sets: a write-ahead log that each commit flushes."""
    for pragma in ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]:
        connection.execute(f"PRAGMA {pragma}")


class Base(DeclarativeBase):
    pass


class Key(Base):
    __tablename__ = "keys"
    digest: Mapped[str] = mapped_column(primary_key=True)


class Person(Base):
    __tablename__ = "people"
    id: Mapped[str] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(unique=True)
    first_name: Mapped[str]
    last_name: Mapped[str]


class Observation(Base):
    __tablename__ = "observations"
    id: Mapped[str] = mapped_column(primary_key=True)
    employee_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    author_id: Mapped[str | None] = mapped_column(ForeignKey("people.id"))
    type: Mapped[str]
    observation: Mapped[str]
    created_at: Mapped[datetime]
    __table_args__ = (
        Index("observations_by_time", "created_at", "id"),
        Index("observations_by_person", "employee_id", "created_at", "id"),
    )


class Event(Base):
    __tablename__ = "events"
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    type: Mapped[str]
    created_at: Mapped[datetime]
    data: Mapped[str]


class AuditEntry(Base):
    __tablename__ = "audit_log"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    action: Mapped[str]
    actor: Mapped[str]
    resource_id: Mapped[str] = mapped_column(index=True)
    created_at: Mapped[datetime]
    changes: Mapped[str]


class Replay(Base):
    __tablename__ = "replays"
    key: Mapped[str] = mapped_column(primary_key=True)
    answer: Mapped[str]


class NewPerson(BaseModel):
    email: str
    first_name: str
    last_name: str


class NewObservation(BaseModel):
    employee_id: str
    author_id: str | None = None
    type: Literal["strength", "opportunity"]
    observation: Annotated[str, Field(min_length=1, max_length=4000)]


class ObservationAnswer(NewObservation):
    model_config = ConfigDict(from_attributes=True)
    id: str
    created_at: datetime


class Page(BaseModel):
    data: list[ObservationAnswer]
    next_cursor: str | None


def open_session():
    with Session(engine) as session:
        yield session


OpenSession = Annotated[Session, Depends(open_session)]


def find_key(session: OpenSession, sent: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]):
    """Returns the digest of the key of the caller."""
    key = session.get(Key, hashlib.sha256(sent.credentials.encode()).hexdigest())
    if key is None:
        raise HTTPException(401, "no such key")
    return key.digest


Caller = Annotated[str, Depends(find_key)]
Base.metadata.create_all(engine)
with Session(engine) as first:
    first.merge(Key(digest=hashlib.sha256(os.environ["API_KEY"].encode()).hexdigest()))
    first.commit()
app = FastAPI()


@app.post("/people", status_code=201)
def create_person(session: OpenSession, caller: Caller, new: NewPerson):
    person = Person(id=str(uuid.uuid4()), **new.model_dump())
    session.add(person)
    session.commit()
    return {"id": person.id}


@app.post("/observations", status_code=201)
def create_observation(
    session: OpenSession, caller: Caller, new: NewObservation, idempotency_key: Annotated[str, Header()]
) -> ObservationAnswer:
    replay = session.get(Replay, idempotency_key)
    if replay is not None:
        return ObservationAnswer.model_validate_json(replay.answer)
    for member in ["employee_id", "author_id"]:
        person = getattr(new, member)
        if person is not None and session.get(Person, person) is None:
            raise HTTPException(422, f"{member} names no person")
    now = datetime.now(UTC).replace(tzinfo=None)
    row = Observation(id=str(uuid.uuid4()), created_at=now, **new.model_dump())
    answer = ObservationAnswer.model_validate(row)
    data = answer.model_dump_json()
    changes = json.dumps({name: [None, value] for name, value in answer.model_dump(mode="json").items()})
    session.add_all([
        row,
        Event(type="observation.created", created_at=now, data=data),
        AuditEntry(action="observation.created", actor=caller, resource_id=row.id, created_at=now, changes=changes),
        Replay(key=idempotency_key, answer=data),
    ])
    session.commit()
    return answer


@app.get("/observations/{id}")
def get_observation(session: OpenSession, caller: Caller, id: str) -> ObservationAnswer:
    row = session.get(Observation, id)
    if row is None:
        raise HTTPException(404, "no such observation")
    return row


@app.get("/observations")
def list_observations(
    session: OpenSession,
    caller: Caller,
    employee_id: str | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: str | None = None,
) -> Page:
    order = (Observation.created_at, Observation.id)
    query = select(Observation).order_by(*[column.desc() for column in order]).limit(limit + 1)
    if employee_id is not None:
        query = query.where(Observation.employee_id == employee_id)
    if cursor is not None:
        created_at, id = json.loads(base64.urlsafe_b64decode(cursor))
        query = query.where(tuple_(*order) < (datetime.fromisoformat(created_at), id))
    rows = session.scalars(query).all()
    page, last = rows[:limit], rows[limit - 1 : limit] if len(rows) > limit else []
    cursors = [base64.urlsafe_b64encode(json.dumps([row.created_at.isoformat(), row.id]).encode()) for row in last]
    return Page(data=page, next_cursor=cursors[0].decode() if cursors else None)
